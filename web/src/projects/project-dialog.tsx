import { type FormEvent, useCallback, useId, useRef, useState } from 'react';
import { UploadList } from '../chat/composer/upload-list.tsx';
import { useUploads } from '../chat/composer/use-uploads.ts';
import { type Project, readProject, saveProject } from '../conversation/chat-context.ts';
import { usePage, useVisibility } from '../page/page.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { useStrings } from '../strings/strings.tsx';
import { useProjectsStrings } from './projects-strings.ts';
import '../forms/forms.css';
import '../parts/question-dialog.css';

const maxInstructionChars = 20_000;

interface ProjectDialogProps {
  readonly name: string;
  readonly close: () => void;
}

/** Instructions and files of a project. */
export function ProjectDialog({ name, close }: ProjectDialogProps) {
  const strings = useProjectsStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const load = useCallback(() => readProject(service, name), [service, name]);
  const { value: project, error, isLoading } = useLoaded(load);
  const titleId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': titleId, 'aria-busy': isLoading }}>
      <h2 id={titleId}>{strings.title(name)}</h2>
      <p className="soft small">{strings.hint(useVisibility())}</p>
      <ErrorMessage error={error} />
      {project !== undefined && <ProjectForm {...{ name, project, closeDialog }} />}
    </dialog>
  );
}

interface ProjectFormProps {
  readonly name: string;
  readonly project: Project;
  readonly closeDialog: () => void;
}

function ProjectForm({ name, project, closeDialog }: ProjectFormProps) {
  const common = useStrings();
  const strings = useProjectsStrings();
  const { service, announce } = usePage();
  const [instructions, setInstructions] = useState(project.instructions);
  const { uploads, add, remove, isBlocked, ready } = useUploads([], project.files);
  const [error, setError] = useState<ErrorDetails>();
  const input = useRef<HTMLInputElement>(null);
  const instructionsId = useId();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    setError(undefined);
    saveProject(service, name, { instructions, files: ready }).then(
      () => {
        announce(strings.saved);
        closeDialog();
      },
      (failure: unknown) => setError(toErrorDetails(failure)),
    );
  };
  return (
    <form className="form" onSubmit={save}>
      <div className="field">
        <label htmlFor={instructionsId}>{strings.instructions}</label>
        <textarea
          {...{ id: instructionsId, rows: 6, value: instructions, maxLength: maxInstructionChars }}
          onChange={({ target }) => setInstructions(target.value)}
        />
      </div>
      <div className="field">
        <h3>{strings.files}</h3>
        {uploads.length > 0 && <UploadList {...{ uploads, remove }} />}
        <button type="button" className="button slim" onClick={() => input.current?.click()}>
          {strings.addFiles}
        </button>
        <input
          {...{ ref: input, type: 'file', multiple: true, hidden: true, 'aria-label': strings.addFiles }}
          onChange={({ target }) => {
            add(target.files ?? []);
            target.value = '';
          }}
        />
      </div>
      <ErrorMessage error={error} />
      <div className="row end">
        <button type="button" className="button" onClick={closeDialog}>
          {common.cancel}
        </button>
        <button {...{ type: 'submit', className: 'button primary', disabled: isBlocked }}>{common.savePreset}</button>
      </div>
    </form>
  );
}
