import { Icon, type IconName } from '../../parts/icon.tsx';
import { useBuilderWords } from '../words/builder-words.ts';

interface RemoveButtonProps {
  /** Of what is taken away. */
  readonly name: string;
  readonly icon?: IconName;
  readonly remove: () => void;
}

export function RemoveButton({ name, icon = 'trash', remove }: RemoveButtonProps) {
  const words = useBuilderWords();
  const said = words.removeItem(name);
  return (
    <button type="button" className="icon-button" aria-label={said} title={said} onClick={remove}>
      <Icon name={icon} />
    </button>
  );
}
