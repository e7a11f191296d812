/** Colours of the page for people (web/src/style/tokens.css), under the names that Scalar has for them; each text has a contrast of 4.5 and more. */
const colours = {
  light: {
    ...{ 'color-1': '#24221e', 'color-2': '#5f594f', 'color-3': '#5f594f', 'color-accent': '#17605a' },
    ...{ 'background-1': '#fbfaf7', 'background-2': '#f2efe9', 'background-3': '#e3ded4', 'background-accent': '#e2efec' },
    ...{ 'border-color': '#e3ded4', 'color-green': '#2f6f3e', 'color-red': '#a42b22', 'color-yellow': '#865308' },
    ...{ 'color-blue': '#1d5c8f', 'color-orange': '#9a4a0b', 'color-purple': '#54458f' },
  },
  dark: {
    ...{ 'color-1': '#ece8e0', 'color-2': '#b4ada1', 'color-3': '#b4ada1', 'color-accent': '#78c9bc' },
    ...{ 'background-1': '#191816', 'background-2': '#22201d', 'background-3': '#39352f', 'background-accent': '#1f3632' },
    ...{ 'border-color': '#39352f', 'color-green': '#86c894', 'color-red': '#f19c93', 'color-yellow': '#f0b96b' },
    ...{ 'color-blue': '#8fc3ee', 'color-orange': '#eeb07c', 'color-purple': '#c4b8f2' },
  },
};

function toRule(mode: 'light' | 'dark'): string {
  const lines = Object.entries(colours[mode]).map(([name, colour]) => `--scalar-${name}: ${colour};`);
  return `.${mode}-mode { ${lines.join(' ')} }`;
}

/** Looks of the API reference: those of the page for people. */
export const docsTheme = `@font-face { font-family: "Public Sans"; src: url("typeface.woff2"); font-weight: 400 700; font-display: swap; }
${toRule('light')}
${toRule('dark')}
:root { --scalar-font: "Public Sans", system-ui, "Segoe UI", Roboto, Arial, sans-serif; }
`;
