"""The question language: names, answers, and their forms as text and JSON."""
