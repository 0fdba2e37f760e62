"""Hands outgoing events on: to webhooks, and to people as notifications."""
