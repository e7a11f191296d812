import katex from 'katex';
import 'katex/dist/katex.min.css';

/** Sets a formula into an element. Nothing it says can load or link anything. */
export function setFormula(place: HTMLElement, text: string, displayMode: boolean): void {
  katex.render(text, place, { displayMode, throwOnError: false, trust: false, strict: 'ignore', maxExpand: 200, maxSize: 40 });
}
