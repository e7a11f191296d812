import { type KeyboardEvent, type RefObject, useId, useImperativeHandle, useState } from 'react';
import './choice-list.css';

/** What the field does with its keys while the choice is open. */
export interface ChoiceKeys {
  /** Whether the key was meant for the choice. */
  readonly take: (event: KeyboardEvent) => boolean;
}

interface Item {
  readonly id: string;
  readonly name: string;
}

interface ChoiceListProps {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keys: RefObject<ChoiceKeys | null>;
  readonly pick: (place: number) => void;
  readonly close: () => void;
  /** Whether the last one leads to something else. */
  readonly isLastOther?: boolean;
}

/** A list above the message, whose keys go through it while the message keeps the focus. */
export function ChoiceList({ label, items, keys, pick, close, isLastOther = false }: ChoiceListProps) {
  const id = useId();
  const [at, setAt] = useState(0);
  const last = items.length - 1;
  const chosen = Math.min(at, last);
  useImperativeHandle(keys, () => ({
    take(event) {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : last;
        setAt((chosen + step) % items.length);
      } else if (event.key === 'Enter' || event.key === 'Tab') pick(chosen);
      else if (event.key === 'Escape') close();
      else return false;
      event.preventDefault();
      return true;
    },
  }));
  return (
    <div className="choice-list" role="listbox" aria-label={label}>
      {items.map((item, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys arrive in the message, which keeps the focus
        <div
          key={item.id}
          id={`${id}-${place}`}
          role="option"
          tabIndex={-1}
          aria-selected={place === chosen}
          className={isLastOther && place === last ? 'soft' : undefined}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => pick(place)}
        >
          {item.name}
        </div>
      ))}
    </div>
  );
}
