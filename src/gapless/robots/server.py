"""A twin's own process: reads verbs from standard input, answers on standard output, and keeps its physics to itself."""

import json
import sys
from typing import Any

from gapless.core import GaplessError, generator_for

from .reality import Reality


def serve(reality: Reality) -> None:
    """Answer until the other side hangs up. The clock is virtual: time passes only while someone waits."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    hidden = jax.tree.map(jnp.asarray, reality.hidden)
    start, send, measure = (jax.jit(getattr(reality, verb)) for verb in ("start", "send", "measure"))
    advance = jax.jit(lambda state, ticks: jax.lax.fori_loop(0, ticks, lambda _, s: reality.tick(hidden, s), state))
    state, key, time_s = None, jax.random.key(0), 0.0
    advance(start(hidden, key), 0)  # compiles, so that nobody who waits for a period waits for that
    for line in sys.stdin:
        request = json.loads(line)
        answer: Any = {}
        match request["verb"]:
            case "reset":
                rng = generator_for(reality.seed, "episode", request["episode"])
                key = jax.random.key(int(rng.integers(2**31)))
                key, fresh = jax.random.split(key)
                state, time_s = start(hidden, fresh), 0.0
                if not request["disturbed"]:
                    state = reality.undisturbed(state)
            case "read":
                key, fresh = jax.random.split(key)
                answer = {k: v.tolist() for k, v in measure(hidden, state, fresh).items()}
            case "send":
                key, fresh = jax.random.split(key)
                state = send(hidden, state, {k: jnp.asarray(v) for k, v in request["command"].items()}, fresh)
            case "wait":
                ticks = max(0, round((request["until"] - time_s) / reality.tick_s))
                state = advance(state, ticks)
                time_s += ticks * reality.tick_s
        sys.stdout.write(json.dumps({"time": time_s, "answer": answer}) + "\n")
        sys.stdout.flush()


def main() -> None:
    from .finding import reality_of

    try:
        serve(reality_of(sys.argv[1]))
    except GaplessError as error:
        sys.exit(str(error))
    except (BrokenPipeError, KeyboardInterrupt):
        pass


if __name__ == "__main__":
    main()
