/** One row of the table. */
export interface Figure {
  readonly title: string;
  /** Maximum permitted value. */
  readonly max: number;
  readonly unit: string;
  readonly value: number;
  /** Additional details. */
  readonly details?: readonly string[];
}

export function isMet({ value, max }: Figure): boolean {
  return value <= max;
}

/** Returns a Markdown table of the figures, followed by their details. */
export function toTable(figures: readonly Figure[]): string {
  const lines = figures.map((figure) => {
    const { title, max, unit, value } = figure;
    const digits = value < 10 && !Number.isInteger(value) ? 2 : 0;
    return `| ${title} | ≤ ${max} ${unit} | ${value.toFixed(digits)} ${unit} | ${isMet(figure) ? '✓' : '✗ missed'} |`;
  });
  const details = figures.flatMap(({ title, details = [] }) => details.map((detail) => `- ${title}: ${detail}`));
  const table = ['| figure | target | measured | met |', '| --- | ---: | ---: | ---: |', ...lines].join('\n');
  return details.length === 0 ? table : `${table}\n\n${details.join('\n')}`;
}
