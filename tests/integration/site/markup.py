"""What pages hold beside hostile text: honest rows to compare with, and what Markdown may become."""

# As many as fill several pages of every list.
HARMLESS = [f"Straw and its ash, part {number}" for number in range(151)]
# An answer's Markdown becomes these and nothing else.
ALLOWED_IN_ANSWERS = {
    "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "ol start", "p", "pre",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul", "span class title",
}  # fmt: skip
