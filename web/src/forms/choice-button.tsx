import { PlainText } from '../markdown/long-text.tsx';
import { Icon } from '../parts/icon.tsx';

interface ChoiceButtonProps {
  readonly label: string;
  readonly isSelected: boolean;
  readonly select: () => void;
}

/** A button that selects a value. */
export function ChoiceButton({ label, isSelected, select }: ChoiceButtonProps) {
  return (
    <button type="button" className="button" aria-pressed={isSelected || undefined} onClick={select}>
      {isSelected && <Icon name="check" />}
      <PlainText text={label} />
    </button>
  );
}
