"""An actuator network as TorchScript, in the shapes that Isaac Lab's actuator networks expect. Needs the extra `torch`."""

import io
import warnings

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

from gapless.nets.actuator_network import ActuatorNetwork, Recurrence

ACTIVATIONS = {
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
    "softsign": torch.nn.Softsign,
    "softplus": torch.nn.Softplus,
    "silu": torch.nn.SiLU,
}


def script_bytes(network: ActuatorNetwork) -> bytes:
    """The content of a TorchScript file."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(scripted(network), content)
    return content.getvalue()


def scripted(network: ActuatorNetwork) -> torch.jit.ScriptModule:
    """The network as a script: `ActuatorNetMLP` calls it with features, `ActuatorNetLSTM` with a step and its memory."""
    module = _Feedforward(network) if network.recurrence is None else _Recurrent(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls TorchScript old; Isaac Lab reads nothing else
        return torch.jit.script(module.train(False))


def script_torques(network: ActuatorNetwork, steps: list[np.ndarray]) -> np.ndarray:
    """What the script answers, step by step."""
    script, answers = scripted(network), []
    width = 0 if network.recurrence is None else network.recurrence.width
    memory = (torch.zeros(1, len(steps[0]), width), torch.zeros(1, len(steps[0]), width))
    with torch.inference_mode():
        for features in map(torch.tensor, steps):
            if network.recurrence is None:
                answer = script(features)
            else:
                answer, memory = script(features[:, None], memory)
            answers.append(answer[:, 0].numpy())
    return np.array(answers)


class _Scaled(torch.nn.Module):
    """The layers with the normalisation around them, and the linear path beside them."""

    shift: torch.Tensor
    scale: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor
    linear: torch.Tensor

    def __init__(self, network: ActuatorNetwork) -> None:
        super().__init__()
        scales, parts = network.scales, []
        for layer in network.layers:
            parts += [_linear(layer.weight, layer.bias), ACTIVATIONS[network.activation]()]
        self.layers = torch.nn.Sequential(*parts[:-1])
        self.register_buffer("shift", _tensor(scales.shift))
        self.register_buffer("scale", _tensor(scales.scale))
        self.register_buffer("low", _tensor(np.full_like(scales.shift, -np.inf) if scales.low is None else scales.low))
        self.register_buffer(
            "high", _tensor(np.full_like(scales.shift, np.inf) if scales.high is None else scales.high)
        )
        width = network.layers[0].weight.shape[1]
        self.register_buffer("linear", _tensor(np.zeros(width) if network.linear is None else network.linear))
        self.torque, self.torque_shift = float(scales.torque), float(scales.torque_shift)

    def normalised(self, features: torch.Tensor) -> torch.Tensor:
        inside = torch.minimum(torch.maximum(features, self.low), self.high)
        return (inside - self.shift) * self.scale

    def answered(self, x: torch.Tensor) -> torch.Tensor:
        straight = torch.sum(x * self.linear, dim=-1, keepdim=True)
        return (self.layers(x) + straight) * self.torque + self.torque_shift


class _Feedforward(_Scaled):
    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.answered(self.normalised(features))


class _Recurrent(_Scaled):
    def __init__(self, network: ActuatorNetwork) -> None:
        super().__init__(network)
        assert network.recurrence is not None
        # Isaac Lab reads the sizes of the memory off a part of this name; a GRU has arrays of the same names.
        self.lstm = _gru(network.recurrence)

    def forward(
        self, step: torch.Tensor, memory: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        x, hidden = self.lstm(self.normalised(step), memory[0])
        return self.answered(x[:, 0]), (hidden, memory[1])


def _gru(cell: Recurrence) -> torch.nn.GRU:
    made = torch.nn.GRU(cell.weight_in.shape[1], cell.width, batch_first=True)
    hidden_bias = np.concatenate([np.zeros(2 * cell.width), cell.bias_new])
    arrays = {"weight_ih_l0": cell.weight_in, "weight_hh_l0": cell.weight_hidden, "bias_ih_l0": cell.bias}
    made.load_state_dict({name: _tensor(a) for name, a in {**arrays, "bias_hh_l0": hidden_bias}.items()})
    return made


def _linear(weight: np.ndarray, bias: np.ndarray) -> torch.nn.Linear:
    made = torch.nn.Linear(weight.shape[1], weight.shape[0])
    made.load_state_dict({"weight": _tensor(weight), "bias": _tensor(bias)})
    return made


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.tensor(np.asarray(values, np.float32))
