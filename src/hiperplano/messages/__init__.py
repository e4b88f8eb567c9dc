"""Messages to the user, and their translations."""

from hiperplano.messages.message import Message, message_of
from hiperplano.messages.translation import translate

__all__ = ["Message", "message_of", "translate"]
