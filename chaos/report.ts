/** The result of one scenario. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly faultCount: number;
  /** The first faults. */
  readonly faults: readonly string[];
}

function toRow({ title, seconds, figures, faultCount }: Result): string {
  const figureTexts = Object.entries(figures).map(([name, value]) => `${name} ${value.toLocaleString('en-US')}`);
  return `| ${title} | ${faultCount} | ${figureTexts.join(', ')} | ${seconds.toFixed(0)} |`;
}

/** Returns a Markdown table of all scenarios, followed by the first faults of each scenario. */
export function toReport(results: readonly Result[]): string {
  const rows = ['| Scenario | Faults | Figures | Seconds |', '| --- | ---: | --- | ---: |', ...results.map(toRow)];
  const sections = results
    .filter(({ faultCount }) => faultCount > 0)
    .map(({ title, faultCount, faults }) => {
      const suffix = faultCount > faults.length ? [`… and ${faultCount - faults.length} more`] : [];
      return [`\n${title}:`, ...[...faults, ...suffix].map((error) => `- ${error}`)].join('\n');
    });
  return `${[...rows, ...sections].join('\n')}\n`;
}
