import { useId } from 'react';

interface SegmentsProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onSelect: (value: Value) => void;
}

/** A choice between a few options side by side. */
export function Segments<Value extends string>({ name, value, options, onSelect }: SegmentsProps<Value>) {
  const groupName = useId();
  return (
    <fieldset className="choice">
      <legend className="overline">{name}</legend>
      <div className="segments">
        {options.map(([option, label]) => (
          <label key={option}>
            <input type="radio" name={groupName} checked={option === value} onChange={() => onSelect(option)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
