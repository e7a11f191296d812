// Shows the HTML it receives, in a sandbox without an origin. Scripts in it do not run: the policy of this sheet allows this file alone.
const root = document.documentElement;
const maxMeasured = 1000;
/** Scales a drawing to the frame. 16px are the margins. */
const drawingStyle =
  'body > svg[viewBox]:only-child { display: block; height: auto; max-width: 100%; max-height: calc(100vh - 16px); margin: auto }';

/** Reports the height of the content in pixels, which can be less than the height of the frame. */
function reportHeight() {
  const elements = [root, ...[...root.querySelectorAll('body *')].slice(0, maxMeasured)];
  const bottom = Math.max(...elements.map((element) => element.getBoundingClientRect().bottom)) + scrollY;
  const scrollbar = innerHeight - root.clientHeight;
  parent.postMessage(Math.ceil(Math.min(bottom, root.scrollHeight)) + scrollbar, '*');
}

addEventListener(
  'message',
  ({ source, data }) => {
    if (source !== parent || typeof data !== 'string') return;
    root.innerHTML = data;
    document.head.prepend(Object.assign(document.createElement('style'), { textContent: drawingStyle }));
    new ResizeObserver(reportHeight).observe(root);
  },
  { once: true },
);
parent.postMessage('sheet-ready', '*');
