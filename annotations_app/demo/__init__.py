"""The demonstration data: a persona, conversations, labels and a campaign."""

DEMO_DATASET = "demo_conversations"
