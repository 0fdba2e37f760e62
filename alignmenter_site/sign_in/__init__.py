"""Signing in: django-allauth, with our rules, events and pages."""
