from typing import Any

class Batch(Any):
    def __init__(self, model: Any, nsim: int, nthread: int = 0, persistent: bool = False) -> None: ...
