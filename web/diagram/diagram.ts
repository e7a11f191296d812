import mermaid from 'mermaid';

/** The layout of more edges takes seconds. */
const maxEdges = 200;

/** Draws the Mermaid source that the page sends, and reports the height in pixels, or 0 if the source is invalid. */
async function draw(source: string): Promise<void> {
  const { svg } = await mermaid.render('diagram', source).catch(() => ({ svg: '' }));
  document.body.innerHTML = svg;
  const height = svg === '' ? 0 : Math.ceil(document.documentElement.getBoundingClientRect().height);
  parent.postMessage(height, '*');
}

// A frame without an origin does not inherit the color scheme that the user chose for the page.
const isDark = location.hash === '#dark';
// With another color scheme than the page, the frame would have an opaque background.
document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', maxEdges, theme: isDark ? 'dark' : 'default' });
addEventListener('message', ({ source, data }) => source === parent && typeof data === 'string' && void draw(data), {
  once: true,
});
parent.postMessage('sheet-ready', '*');
