// Shows the HTML it is handed, in a sandbox without an origin. Scripts in it do not run: the policy of this sheet allows this file alone.
addEventListener(
  'message',
  ({ source, data }) => {
    if (source === parent && typeof data === 'string') document.documentElement.innerHTML = data;
  },
  { once: true },
);
parent.postMessage('sheet-ready', '*');
