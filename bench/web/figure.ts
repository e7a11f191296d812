/** One row of the table. */
export interface Figure {
  readonly title: string;
  /** Maximum permitted value. */
  readonly max: number;
  readonly unit: string;
  readonly got: number;
  /** Additional details. */
  readonly details?: readonly string[];
}

export function isMet({ got, max }: Figure): boolean {
  return got <= max;
}

/** Returns a Markdown table of the figures, followed by their details. */
export function toTable(figures: readonly Figure[]): string {
  const lines = figures.map((figure) => {
    const { title, max, unit, got } = figure;
    const digits = got < 10 && !Number.isInteger(got) ? 2 : 0;
    return `| ${title} | ≤ ${max} ${unit} | ${got.toFixed(digits)} ${unit} | ${isMet(figure) ? '✓' : '✗ missed'} |`;
  });
  const details = figures.flatMap(({ title, details = [] }) => details.map((detail) => `- ${title}: ${detail}`));
  const table = ['| figure | wanted | got | met |', '| --- | ---: | ---: | ---: |', ...lines].join('\n');
  return details.length === 0 ? table : `${table}\n\n${details.join('\n')}`;
}
