"""How good the assistant is: rates of the answers of a campaign, from people and judges."""
