import { type KeyboardEvent, type RefObject, useId, useImperativeHandle, useState } from 'react';
import './choice-list.css';

/** Key handling while the list is open. */
export interface ChoiceKeys {
  /** Returns whether the list handled the key. */
  readonly handleKey: (event: KeyboardEvent) => boolean;
}

interface Item {
  readonly id: string;
  readonly name: string;
  /** Source of the item, if the list combines several sources. */
  readonly note?: string;
}

interface ChoiceListProps {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keys: RefObject<ChoiceKeys | null>;
  readonly onSelect: (index: number) => void;
  readonly onClose: () => void;
  /** Whether the last entry is an action instead of an item. */
  readonly endsWithAction?: boolean;
}

/** A list above the message input. Keys move through it while the input keeps the focus. */
export function ChoiceList({ label, items, keys, onSelect, onClose, endsWithAction = false }: ChoiceListProps) {
  const id = useId();
  const [position, setPosition] = useState(0);
  const last = items.length - 1;
  const selectedIndex = Math.min(position, last);
  useImperativeHandle(keys, () => ({
    handleKey(event) {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : last;
        setPosition((selectedIndex + step) % items.length);
      } else if (event.key === 'Enter' || event.key === 'Tab') onSelect(selectedIndex);
      else if (event.key === 'Escape') onClose();
      else return false;
      event.preventDefault();
      return true;
    },
  }));
  return (
    <div className="choice-list" role="listbox" aria-label={label}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys arrive in the message, which keeps the focus
        <div
          key={item.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === selectedIndex}
          className={endsWithAction && index === last ? 'soft' : undefined}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onSelect(index)}
        >
          {item.name}
          {item.note !== undefined && <span className="soft small"> {item.note}</span>}
        </div>
      ))}
    </div>
  );
}
