"""What the library says to a person, and the languages it can be said in."""

from hiperplano.messages.message import Message
from hiperplano.messages.translate import translate

__all__ = ["Message", "translate"]
