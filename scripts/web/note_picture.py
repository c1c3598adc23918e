"""A page that shows a note as a Markdown viewer does, for the pictures of the documentation. Knows what our notes use."""
import html
import re

STYLE = """body { margin: 2.5rem 3rem; max-width: 46rem; font: 16px/1.6 Inter, ui-sans-serif, system-ui, sans-serif; color: #222; background: #fff }
h1 { font-size: 1.8rem; margin: 0 0 .5rem } h2 { font-size: 1.25rem; margin: 1.75rem 0 .5rem } a { color: #7044d6; text-decoration: none }
table { border-collapse: collapse; width: 100%; font-size: .9rem } th, td { border: 1px solid #ddd; padding: .35rem .7rem; text-align: left }
.properties { color: #666; font-size: .85rem; border-bottom: 1px solid #eee; padding-bottom: .75rem; margin-bottom: 1.5rem } code { background: #f3f3f3; padding: .1rem .3rem }"""


def inline(text):
    text = html.escape(text.replace("\\|", "|"))
    text = re.sub(r"\[\[([^\]|]+)\|([^\]]+)\]\]", r'<a href="#">\2</a>', text)
    text = re.sub(r"\[\[([^\]]+)\]\]", r'<a href="#">\1</a>', text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<!\w)_([^_]+)_(?!\w)", r"<em>\1</em>", text)


def render(note):
    _, properties, body = note.split("---\n", 2)
    body = re.sub(r"<!--.*?-->\n?", "", body)
    parts = [f'<p class="properties">{html.escape(properties.strip())}</p>']
    for block in re.split(r"\n{2,}", body.strip()):
        lines = block.strip().splitlines()
        if lines[0].startswith("#"):
            level = len(lines[0]) - len(lines[0].lstrip("#"))
            parts.append(f"<h{level}>{inline(lines[0].lstrip('# '))}</h{level}>")
        elif lines[0].startswith("|"):
            cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines]
            head = "".join(f"<th>{inline(cell)}</th>" for cell in cells[0]) if any(cells[0]) else ""
            rows = "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in cells[2:])
            parts.append(f"<table><tr>{head}</tr>{rows}</table>")
        elif lines[0].startswith("- "):
            parts.append("<ul>" + "".join(f"<li>{inline(line[2:])}</li>" for line in lines) + "</ul>")
        else:
            parts.append(f"<p>{inline(' '.join(lines))}</p>")
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>" + "".join(parts)
