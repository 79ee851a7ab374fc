// Nothing but words.
