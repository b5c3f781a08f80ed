/** Covers the rendering of help topics from Markdown to plain text. */
import { expect, test } from "vitest";
import { blocksIn } from "../../../src/cli/help/from-markdown.js";
import { renderTopic } from "../../../src/cli/help/topics.js";

test.each<[string, string, string]>([
  ["a heading", "# Exit codes", "EXIT CODES\n"],
  ["a paragraph, wrapped", "one two three four five six", "one two three four\nfive six\n"],
  ["code, emphasis and links", "`a` **b** [c](https://x.net)", "a b c\n"],
  ["a list with hanging lines", "- one two three four five\n- six", "- one two three four\n  five\n- six\n"],
  ["a code block unchanged", "```\na    b\n  c\n```", "  a    b\n    c\n"],
  ["a code block with an empty line", "a\n\n```\nb\n\n**c**\n```\n\nd", "a\n\n  b\n\n  **c**\n\nd\n"],
  [
    "a table with its last column wrapped",
    "| A | B |\n| --- | --- |\n| x | one two three four |",
    "  A  B\n  x  one two three\n     four\n",
  ],
  [
    "a table whose widest columns give way",
    "| A | B |\n| --- | --- |\n| one two three four | five six seven |",
    "  A           B\n  one two     five six\n  three four  seven\n",
  ],
  ["a bar in a cell", "| A |\n| --- |\n| `x\\|y` |", "  A\n  x|y\n"],
  ["a word that is too long", "a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb c", "a\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nc\n"],
])("renders %s as plain text", (_, markdown, expected) => expect(renderTopic(blocksIn(markdown), 20)).toBe(expected));
