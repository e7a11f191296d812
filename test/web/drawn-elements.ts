import type { Page } from 'playwright-core';

/** Counts of the elements that were added to the page. Unlike durations, they do not depend on the speed of the machine. */
export interface DrawnElements {
  /** Number of added elements, including elements that were removed later. */
  readonly added: number;
  /** Maximum number of elements that were added between two frames. */
  readonly mostInFrame: number;
  /** Number of elements that were added outside the last question and its answer. */
  readonly elsewhere: number;
}

/** Counts the elements that are added to the chat until `act` has ended. */
export async function countDrawnElements(page: Page, act: () => Promise<void>): Promise<DrawnElements> {
  await page.evaluate(countScript);
  await act();
  return page.evaluate('window.endCount()');
}

const countScript = `(() => {
  const count = { added: 0, mostInFrame: 0, elsewhere: 0 };
  let inFrame = 0;
  const seen = new WeakSet();
  const sizeOf = (node) => {
    const added = node.nodeType === 1 ? [node, ...node.querySelectorAll('*')].filter((each) => !seen.has(each)) : [];
    for (const each of added) seen.add(each);
    return added.length;
  };
  const observer = new MutationObserver((changes) => {
    const last = [...document.querySelectorAll('article')].slice(-2);
    for (const { target, addedNodes } of changes) {
      if (target.closest('.thread') === null) continue;
      const size = [...addedNodes].reduce((sum, node) => sum + sizeOf(node), 0);
      const isLast = target.className === 'turns' || last.some((article) => article.contains(target));
      count.added += size;
      inFrame += size;
      if (!isLast) count.elsewhere += size;
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
  let frame = requestAnimationFrame(function next() {
    count.mostInFrame = Math.max(count.mostInFrame, inFrame);
    inFrame = 0;
    frame = requestAnimationFrame(next);
  });
  window.endCount = () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
    return { ...count, mostInFrame: Math.max(count.mostInFrame, inFrame) };
  };
})()`;

/**
 * Resolves when the last answer is complete and rendered. The page polls its own state, so that no other request disturbs the
 * measurement.
 */
export async function waitUntilComplete(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const last = [...document.querySelectorAll('.reply')].at(-1);
      const isDone = last?.querySelector('.actions') && !last.querySelector('.markdown[aria-busy=true]');
      if (isDone) resolve();
      else setTimeout(look, 50);
    };
    look();
  })`);
}
