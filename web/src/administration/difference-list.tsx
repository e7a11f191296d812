import { useAdminStrings } from './admin-strings.ts';

const maxChars = 200;

interface LabeledDifference {
  readonly label: string;
  readonly before: unknown;
  readonly after: unknown;
  /** A remark after the values. */
  readonly note?: string;
}

/** Values that changed, one in each line. */
export function DifferenceList({ differences }: { readonly differences: readonly LabeledDifference[] }) {
  const strings = useAdminStrings();
  const format = (value: unknown): string => {
    if (value === undefined) return strings.notSet;
    const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
    if (text === '***') return strings.hiddenSecret;
    return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  };
  return (
    <ul className="difference-list">
      {differences.map(({ label, before, after, note }) => (
        <li key={label}>
          <span className="difference-label">{label}</span>
          <del>{format(before)}</del>
          <span aria-hidden="true"> → </span>
          <ins>{format(after)}</ins>
          {note !== undefined && <strong className="small"> {note}</strong>}
        </li>
      ))}
    </ul>
  );
}
