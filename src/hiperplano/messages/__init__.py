"""What the library says to a person, and the languages it can be said in."""

from hiperplano.messages.message import Message, message_of
from hiperplano.messages.translation import translate

__all__ = ["Message", "message_of", "translate"]
