"""Exports of other tools: from documents to conversations and turns."""
