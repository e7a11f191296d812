import { useId } from 'react';

interface SegmentsProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly choose: (value: Value) => void;
}

/** One of a few, side by side. */
export function Segments<Value extends string>({ name, value, options, choose }: SegmentsProps<Value>) {
  const group = useId();
  return (
    <fieldset className="choice">
      <legend className="overline">{name}</legend>
      <div className="segments">
        {options.map(([each, label]) => (
          <label key={each}>
            <input type="radio" name={group} checked={each === value} onChange={() => choose(each)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
