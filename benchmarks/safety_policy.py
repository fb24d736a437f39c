"""Policies that ask for what they should not: out of limits, in jumps, in the wrong shape, too late or not at all."""

from typing import Any

import numpy as np

from gapless.core import Block, Channel, Params, Signals, generator_for
from safety_faults import POLICY_FAULTS
from safety_machine import Machine
from safety_scenes import Scene, nearest_to_zero


class Hostile(Block):
    """A policy that asks for what it should not."""

    traceable = False
    scene: Scene
    machine: Machine
    """Its clock passes while a slow policy thinks."""

    def init(self, key: Any) -> Any:
        return generator_for(self.scene.seed, "policy")

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        k = self.machine.period
        wanted = {c.name: _wish(self.scene.policy, c, k, memory) for c in self.scene.interface.commands}
        return memory, self._broken(wanted) if self.machine.struck(*POLICY_FAULTS) else wanted

    def _broken(self, wanted: Signals) -> Any:
        name = self.scene.interface.command_names[-1]
        match self.scene.fault:
            case "policy not-a-number":
                return wanted | {name: np.full_like(wanted[name], np.nan)}
            case "policy infinite":
                return wanted | {name: np.full_like(wanted[name], np.inf)}
            case "policy wrong shape":
                return wanted | {name: np.zeros(len(wanted[name]) + 1)}
            case "policy no command":
                return None
            case "policy slow":
                self.machine.advance(self.scene.limits.watchdog(self.scene.interface.period_s) * 1.05)
            case "policy saturates":
                return {c.name: np.full(c.width, c.high) for c in self.scene.interface.commands}
            case "clock jumps" if self.machine.struck_at == self.machine.period:
                period_s = self.scene.interface.period_s
                self.machine.advance(
                    period_s + self.scene.limits.watchdog(period_s) * self.machine.rng.uniform(1.05, 5)
                )
        return wanted


def _wish(policy: str, channel: Channel, k: int, rng: np.random.Generator) -> np.ndarray:
    low, high, width = channel.low, channel.high, channel.width
    match policy:
        case "huge":
            return rng.choice([-1, 1], width) * 10 ** rng.uniform(3, 300, width)
        case "oscillating":
            return np.full(width, high if k % 2 else low)
        case "saturating":
            return np.full(width, 2 * high - low)
        case "jumping":
            return rng.uniform(2 * low - high, 2 * high - low, width)
        case "resting":  # works, then rests for good: a perfect sensor will repeat itself
            return np.full(width, 0.6 * high) if k < 15 else nearest_to_zero(channel)
        case _:
            return np.full(width, (low + high) / 2 + 0.4 * (high - low) * np.sin(0.3 * k))
