"""The driver of an arm that a fan lifts. No such arm is at hand, so it speaks to a few lines of physics of its own."""

import math

import numpy as np

from gapless.core import Channel, Interface, Robot, Signals

LATENCY_S, TICK_S = 0.035, 0.001


class FanArm(Robot):
    """Gravity, friction and a fan that is weaker than its data sheet says; the clock is virtual."""

    simulated = True  # leave this out for a real machine: the doctor then moves it only if told to
    interface = Interface(
        robot="fan arm",
        period_s=0.02,
        commands=(Channel("fan", unit="N", low=-2.0, high=2.0),),
        measurements=(Channel("arm.angle", unit="rad", low=-2.5, high=2.5, rate=20.0),),
        joints=("hinge",),
    )

    def connect(self) -> None:
        self.reset(0)

    def disconnect(self) -> None:
        self._sent = [(-math.inf, 0.0)]

    def reset(self, episode: int) -> None:
        self._chance = np.random.default_rng([42, episode])
        self._time_s, self._angle, self._speed = 0.0, self._chance.normal(0, 0.03), 0.0
        self._sent = [(-math.inf, 0.0)]

    def get_observation(self) -> Signals:
        return {"arm.angle": np.array([self._angle + self._chance.normal(0, 0.002)])}

    def send_action(self, command: Signals) -> Signals:
        thrust = np.clip(np.asarray(command["fan"], float), -2.0, 2.0)
        self._sent.append((self._time_s + LATENCY_S, thrust.item()))
        return {"fan": thrust}

    def now(self) -> float:
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        for _ in range(round((time_s - self._time_s) / TICK_S)):
            thrust = next(t for since, t in reversed(self._sent) if since <= self._time_s)
            friction = 0.014 * self._speed + 0.006 * math.tanh(50 * self._speed)
            torque = 0.23 * thrust - 0.2 * 9.81 * 0.21 * math.sin(self._angle) - friction
            self._speed += TICK_S * torque / 0.0115
            self._angle += TICK_S * self._speed
            self._time_s += TICK_S
