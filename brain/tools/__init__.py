"""Tools from plain Python: a callable becomes something a model can call, and a call an observation."""

from brain.tools.render import plain, render
from brain.tools.tool import Tool, tool
from brain.tools.toolset import Toolset

__all__ = ["Tool", "Toolset", "plain", "render", "tool"]
