"""Sphinx extension: Markdown pages, as a repository browser shows them. Relative links:

- A link to a page, or to a folder with a README.md, becomes a link between pages.
- A link to another file or folder becomes a link to it below source_url. Without source_url it
  becomes the path as literal text.
- A link to a file, folder or heading that does not exist is a warning.

A table whose rows are joined to one line is a warning, too: it would be shown as text.
"""
import os
import re
from urllib.parse import unquote, urlsplit

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import get_node_source, make_refnode

logger = logging.getLogger(__name__)


class RelativeLinks(SphinxPostTransform):
    default_priority = 5    # before Sphinx resolves its roles: all links are from Markdown

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.reference)):
            link = node.get("refuri")
            if link and not urlsplit(link).scheme:
                node.replace_self(self.resolve(node, link))

    def resolve(self, node, link):
        """Return the nodes that replace a relative link."""
        path, _, anchor = unquote(link).partition("#")
        source = get_node_source(node)    # in an include: source of the included file
        target = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
        name = os.path.relpath(target, self.env.srcdir)
        if not os.path.exists(target) or name.startswith(os.pardir):
            logger.warning("link to '%s': the repository has no '%s'", link, name, location=node)
            return node.children

        pages = [self.env.path2doc(file) for file in (target, os.path.join(target, "README.md"))]
        page = next((page for page in pages if page in self.env.found_docs), None)
        if page:
            headings = self.headings(page)
            if anchor and anchor not in headings:
                logger.warning("link to '%s': '%s' has no heading '%s'", link, name, anchor, location=node)
                return node.children
            return make_refnode(self.app.builder, self.env.docname, page, headings.get(anchor), node.children)

        if self.config.source_url:
            node["refuri"] = f"{self.config.source_url.rstrip('/')}/{name}" + (f"#{anchor}" if anchor else "")
            return node
        literal = nodes.literal(name, name)
        if name.endswith(node.astext()):
            return literal
        return [*node.children, nodes.Text(" ("), literal, nodes.Text(")")]

    def headings(self, page):
        """Return the identifier of each heading of a page by its anchor in a repository browser."""
        identifiers = {}
        for entry in self.env.tocs[page].findall(nodes.reference):
            anchor = re.sub(r"[^\w\- ]", "", entry.astext().lower()).replace(" ", "-")
            unique, count = anchor, 0
            while unique in identifiers:
                count += 1
                unique = f"{anchor}-{count}"
            identifiers[unique] = entry["anchorname"].lstrip("#")
        return identifiers


def check_tables(app, document):
    for paragraph in document.findall(nodes.paragraph):
        if paragraph.astext().startswith("|") and get_node_source(paragraph).endswith(".md"):
            logger.warning("a table needs a line for each row: '%.40s'", paragraph.rawsource, location=paragraph)


def setup(app):
    app.add_config_value("source_url", "", "env")
    app.connect("doctree-read", check_tables)
    app.add_post_transform(RelativeLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
