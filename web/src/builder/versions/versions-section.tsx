import { useCallback, useEffect, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { QuestionDialog } from '../../parts/question-dialog.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type Fault, faultOf } from '../../service/fault.ts';
import { useLanguage } from '../../words/words.tsx';
import type { OwnApplication } from '../applications.ts';
import { VersionResult } from '../evaluation/evaluation-list.tsx';
import type { Evaluating } from '../evaluation/use-evaluations.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import { VersionDiff } from './version-diff.tsx';
import { listVersions, restoreVersion, type Version } from './versions.ts';
import './versions.css';

interface VersionsSectionProps {
  readonly stored: OwnApplication;
  readonly evaluating: Evaluating;
  /** Takes what is in force once a version is restored. */
  readonly take: (restored: OwnApplication) => void;
}

/** What the application was before, folded as long as nobody asks for it. */
export function VersionsSection({ stored, evaluating, take }: VersionsSectionProps) {
  const words = useBuilderWords();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="builder-tools" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{words.versions}</summary>
      {isOpen && <VersionList {...{ stored, evaluating, take }} />}
    </details>
  );
}

function VersionList({ stored, evaluating, take }: VersionsSectionProps) {
  const words = useBuilderWords();
  const { language } = useLanguage();
  const { service, announce } = usePage();
  const { id, etag } = stored;
  const { want } = evaluating;
  useEffect(want, [want]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change makes another version
  const load = useCallback(() => listVersions(service, id), [service, id, etag]);
  const { value: versions, fault, isLoading } = useLoaded(load);
  const [asked, setAsked] = useState<Version>();
  const [refusal, setRefusal] = useState<Fault>();
  const nameOf = ({ savedAtMs }: Version): string =>
    new Date(savedAtMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const restore = (version: Version): void => {
    setRefusal(undefined);
    restoreVersion(service, stored, version.version).then(
      (restored) => {
        take(restored);
        announce(words.restored(nameOf(version)));
      },
      (thrown: unknown) => setRefusal(faultOf(thrown)),
    );
  };
  return (
    <div className="builder-tools-body" aria-busy={isLoading}>
      <p className="soft small">{words.versionsHint}</p>
      <Trouble fault={refusal ?? fault} />
      <ol className="versions" aria-label={words.versions}>
        {versions?.map((version, nth) => (
          <VersionItem
            key={version.version}
            {...{ version, stored, evaluating, name: nameOf(version), isInForce: nth === 0 }}
            ask={() => setAsked(version)}
          />
        ))}
      </ol>
      {asked !== undefined && (
        <QuestionDialog
          question={words.restoreQuestion(nameOf(asked))}
          answer={words.restore}
          act={() => restore(asked)}
          close={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}

interface VersionItemProps {
  readonly version: Version;
  readonly stored: OwnApplication;
  readonly evaluating: Evaluating;
  readonly name: string;
  readonly isInForce: boolean;
  readonly ask: () => void;
}

function VersionItem({ version, stored, evaluating, name, isInForce, ask }: VersionItemProps) {
  const words = useBuilderWords();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li className="version">
      <div className="row">
        <p className="row version-name">
          <span>{name}</span>
          <span className="soft small">{isInForce ? words.inForce : words.versionNumber(version.version)}</span>
          <VersionResult {...{ evaluating, version: version.version }} />
        </p>
        {!isInForce && (
          <div className="row">
            <button
              {...{ type: 'button', className: 'button slim', 'aria-expanded': isOpen, 'aria-label': words.compareWith(name) }}
              onClick={() => setIsOpen(!isOpen)}
            >
              {words.compare}
            </button>
            <button type="button" className="button slim" aria-label={words.restoreOf(name)} onClick={ask}>
              {words.restore}
            </button>
          </div>
        )}
      </div>
      {isOpen && <VersionDiff {...{ stored, version: version.version }} />}
    </li>
  );
}
