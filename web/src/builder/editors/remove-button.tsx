import { IconButton, type IconName } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../strings/builder-strings.ts';

interface RemoveButtonProps {
  /** Name of the removed item. */
  readonly name: string;
  readonly icon?: IconName;
  readonly remove: () => void;
}

export function RemoveButton({ name, icon = 'trash', remove }: RemoveButtonProps) {
  const strings = useBuilderStrings();
  const label = strings.removeItem(name);
  return <IconButton icon={icon} label={label} onClick={remove} />;
}
