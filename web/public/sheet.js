// Shows the HTML it receives, in a sandbox without an origin. Scripts in it do not run: the policy of this sheet allows this file alone.
const maxMeasured = 1000;
/** Scales a drawing to the frame. 16px are the margins. */
const drawingStyle =
  'body > svg[viewBox]:only-child { display: block; height: auto; max-width: 100%; max-height: calc(100vh - 16px); margin: auto }';
/** Elements that can connect to other hosts or replace the sheet although its policy allows no requests. */
const removedElements = 'link, meta, base, iframe, frame, object, embed';

/** Parses the HTML in a document that loads nothing, and replaces the content of the sheet. */
function show(html) {
  const { documentElement: root, head } = new DOMParser().parseFromString(html, 'text/html');
  for (const element of root.querySelectorAll(removedElements)) element.remove();
  head.prepend(Object.assign(document.createElement('style'), { textContent: drawingStyle }));
  document.documentElement.replaceWith(root);
  new ResizeObserver(reportHeight).observe(root);
}

/** Reports the height of the content in pixels, which can be less than the height of the frame. */
function reportHeight() {
  const root = document.documentElement;
  const elements = [root, ...[...root.querySelectorAll('body *')].slice(0, maxMeasured)];
  const bottom = Math.max(...elements.map((element) => element.getBoundingClientRect().bottom)) + scrollY;
  const scrollbar = innerHeight - root.clientHeight;
  parent.postMessage(Math.ceil(Math.min(bottom, root.scrollHeight)) + scrollbar, '*');
}

/** Cancels a link to another address, because the policy of the page replaces the sheet with an error then. */
function onClick(event) {
  const link = event.target.closest('a, area');
  const opensTab = event.ctrlKey || event.metaKey || event.shiftKey;
  if (link !== null && !opensTab && !link.getAttribute('href')?.startsWith('#')) event.preventDefault();
}

addEventListener('click', onClick);
addEventListener('message', ({ source, data }) => source === parent && typeof data === 'string' && show(data), { once: true });
parent.postMessage('sheet-ready', '*');
