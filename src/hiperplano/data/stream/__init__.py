"""Rows that are read again in every pass: files larger than memory, or any data that can be iterated repeatedly."""

from hiperplano.data.stream.design import Stream
from hiperplano.data.stream.settings import Settings
from hiperplano.data.stream.source import Source

__all__ = ["Settings", "Source", "Stream"]
