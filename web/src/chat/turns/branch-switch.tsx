import { withVisibleTurn } from '../../conversation/conversation.ts';
import { IconButton } from '../../parts/icon.tsx';
import { usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';

interface BranchSwitchProps {
  readonly conversationId: string;
  readonly turnId: string;
  /** All versions of the turn, oldest first. */
  readonly versionIds: readonly string[];
  readonly isSideBySide: boolean;
  readonly setIsSideBySide: (isSideBySide: boolean) => void;
}

/** Switches between the versions of a turn, if there are several, or shows them side by side. */
export function BranchSwitch({ conversationId, turnId, versionIds, isSideBySide, setIsSideBySide }: BranchSwitchProps) {
  const strings = useStrings();
  const { library } = usePage();
  if (versionIds.length < 2) return null;
  const position = versionIds.indexOf(turnId);
  const show = (id: string | undefined): void =>
    library.change(conversationId, (conversation) => {
      const turn = conversation.turns[id ?? ''];
      return turn === undefined ? conversation : withVisibleTurn(conversation, turn);
    });
  return (
    <>
      {!isSideBySide && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as part of a form
        <div className="branches" role="group" aria-label={strings.version(position + 1, versionIds.length)}>
          <IconButton
            icon="left"
            label={strings.earlierVersion}
            disabled={position === 0}
            onClick={() => show(versionIds[position - 1])}
          />
          <span aria-hidden="true">
            {position + 1}/{versionIds.length}
          </span>
          <IconButton
            icon="right"
            label={strings.laterVersion}
            disabled={position === versionIds.length - 1}
            onClick={() => show(versionIds[position + 1])}
          />
        </div>
      )}
      <IconButton
        {...{ icon: 'columns', label: strings.sideBySide, 'aria-pressed': isSideBySide }}
        onClick={() => setIsSideBySide(!isSideBySide)}
      />
    </>
  );
}
