"""Published experiments repeated, the paper's numbers beside ours: `reproduce` of `sc15`, `sc17` and `thesis`."""

from schedlab.papers.reproduction import Reproduction, Reproductions, Row

__all__ = ["Reproduction", "Reproductions", "Row"]
