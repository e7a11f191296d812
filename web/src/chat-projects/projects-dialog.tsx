import { type FormEvent, useCallback, useId, useState } from 'react';
import { UploadList } from '../chat/composer/upload-list.tsx';
import { useUploads } from '../chat/composer/use-uploads.ts';
import { deleteProject, type Project, readProject, renameProject, saveProject } from '../conversation/chat-context.ts';
import type { ConversationSummary } from '../conversation/database.ts';
import type { Library } from '../conversation/library.ts';
import { projectsGerman } from '../locales/de/projects.ts';
import { type ProjectsStrings, projectsEnglish } from '../locales/en/projects.ts';
import { projectsSpanish } from '../locales/es/projects.ts';
import { projectsFrench } from '../locales/fr/projects.ts';
import { FileButton } from '../parts/device-files.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { listDocuments } from '../service/user-documents.ts';
import { listTags } from '../shell/conversation-filter.ts';
import { useUpdateAttributes } from '../shell/conversation-menu.tsx';
import { usePage, useProjectNames, useVisibility } from '../shell/page.tsx';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';
import '../forms/forms.css';
import '../parts/question-dialog.css';

const maxTags = 20;
const maxProjectChars = 60;
const maxInstructionChars = 20_000;

/** Replaces slashes, because the name is also the file name of the instructions and files. */
function normalizeProjectName(text: string): string {
  return text.trim().replace(/\s+/g, ' ').replaceAll('/', '-');
}

interface ProjectsDialogProps {
  readonly summary: ConversationSummary;
  readonly title: string;
  readonly onClose: () => void;
}

/** Selects the projects of a chat, which are its tags, and adds new ones. */
export function ProjectsDialog({ summary, title, onClose }: ProjectsDialogProps) {
  const strings = useProjectsStrings();
  const { newProject, projectSettings } = useStrings();
  const { storesFiles } = usePage();
  const [editedProject, setEditedProject] = useState<string>();
  const updateAttributes = useUpdateAttributes(summary);
  const { dialog, closeDialog } = useModalDialog(onClose);
  const [newTag, setNewTag] = useState('');
  const { tags = [] } = summary;
  const knownTags = useProjectNames();
  const titleId = useId();
  const inputId = useId();
  const toggle = (tag: string): void =>
    void updateAttributes({ tags: tags.includes(tag) ? tags.filter((selectedTag) => selectedTag !== tag) : [...tags, tag] });
  const add = (): void => {
    const tag = normalizeProjectName(newTag);
    setNewTag('');
    if (tag !== '' && !tags.includes(tag)) toggle(tag);
  };
  const isFull = tags.length >= maxTags;
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog tags-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{strings.projectsOfConversation(title)}</h2>
      <p className="soft small">{strings.hint(useVisibility())}</p>
      <div className="tag-choices">
        {knownTags.map((tag) => (
          <div key={tag} className="tag-choice">
            <label className="tag-choice">
              <input
                {...{ type: 'checkbox', checked: tags.includes(tag), disabled: isFull && !tags.includes(tag) }}
                onChange={() => toggle(tag)}
              />
              {tag}
            </label>
            {storesFiles && tags.includes(tag) && (
              <button
                {...{ type: 'button', className: 'button slim', 'aria-label': `${projectSettings}: ${tag}` }}
                onClick={() => setEditedProject(tag)}
              >
                {projectSettings}
              </button>
            )}
          </div>
        ))}
      </div>
      {editedProject !== undefined && <ProjectDialog name={editedProject} close={() => setEditedProject(undefined)} />}
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          add();
        }}
      >
        <label className="visually-hidden" htmlFor={inputId}>
          {newProject}
        </label>
        <input
          {...{ id: inputId, value: newTag, maxLength: maxProjectChars, placeholder: newProject, autoComplete: 'off' }}
          disabled={isFull}
          onChange={({ target }) => setNewTag(target.value)}
        />
        <button {...{ type: 'submit', className: 'button', disabled: newTag.trim() === '' || isFull }}>
          {strings.addProject}
        </button>
      </form>
      <div className="row end">
        <button
          type="button"
          className="button primary"
          onClick={() => {
            add();
            closeDialog();
          }}
        >
          {strings.done}
        </button>
      </div>
    </dialog>
  );
}

/** Creates a project and starts a chat in it. If a project already has the name, only starts the chat. */
export function NewProjectDialog({ names, close }: { readonly names: readonly string[]; readonly close: () => void }) {
  const strings = useProjectsStrings();
  const { newProject, cancel } = useStrings();
  const { go, service, storesFiles } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const [text, setText] = useState('');
  const [instructions, setInstructions] = useState('');
  const { error, isRunning: isSaving, run } = useAction();
  const id = useId();
  const project = normalizeProjectName(text);
  /** Name of a project that another tab or device created meanwhile. */
  const [foundName, setFoundName] = useState<string>();
  const isExisting = names.includes(project) || foundName === project;
  const start = (event: FormEvent): void => {
    event.preventDefault();
    void run(async () => {
      if (!isExisting && storesFiles) {
        if ((await listDocuments(service, 'projects')).includes(project)) return setFoundName(project);
        await saveProject(service, project, { instructions, files: [] });
      }
      // The user may have closed the dialog meanwhile.
      if (dialog.current?.open !== true) return;
      closeDialog();
      go({ at: 'new', project });
    });
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': id }}>
      <form className="form" aria-busy={isSaving} onSubmit={start}>
        <h2 id={id}>{newProject}</h2>
        <p className="soft small">
          {strings.newProjectHint} {!storesFiles && strings.createdWithChat}
        </p>
        <NameField value={text} onChange={setText} note={isExisting && strings.projectExists(project)} />
        {storesFiles && !isExisting && <InstructionsField value={instructions} onChange={setInstructions} />}
        <ErrorMessage error={error} />
        <div className="row end">
          <TextButton onClick={closeDialog}>{cancel}</TextButton>
          <button type="submit" className="button primary" disabled={project === '' || isSaving}>
            {strings.startProject}
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NameField({ value, onChange, note }: FieldProps & { readonly note: string | false }) {
  const strings = useProjectsStrings();
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{strings.name}</label>
      <input
        {...{ id, value, maxLength: maxProjectChars, autoComplete: 'off' }}
        onChange={({ target }) => onChange(target.value)}
      />
      <p role="status">{note}</p>
    </div>
  );
}

function InstructionsField({ value, onChange }: FieldProps) {
  const strings = useProjectsStrings();
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{strings.instructions}</label>
      <textarea {...{ id, rows: 6, value, maxLength: maxInstructionChars }} onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}

interface ProjectDialogProps {
  readonly name: string;
  readonly close: () => void;
  /** Called with the new name. */
  readonly onRename?: (name: string) => void;
}

/** Name, instructions, and files of a project, and a button that deletes it. */
export function ProjectDialog({ name, close, onRename }: ProjectDialogProps) {
  const strings = useProjectsStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const load = useCallback(() => readProject(service, name), [service, name]);
  const { value: project, error, isLoading, reload } = useLoaded(load);
  const titleId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': titleId, 'aria-busy': isLoading }}>
      <h2 id={titleId}>{strings.title(name)}</h2>
      <p className="soft small">{strings.hint(useVisibility())}</p>
      <ErrorMessage error={error} retry={reload} />
      {project !== undefined && <ProjectForm {...{ name, project, closeDialog, onRename }} />}
    </dialog>
  );
}

interface ProjectFormProps {
  readonly name: string;
  readonly project: Project;
  readonly closeDialog: () => void;
  readonly onRename: ((name: string) => void) | undefined;
}

function ProjectForm({ name, project, closeDialog, onRename }: ProjectFormProps) {
  const common = useStrings();
  const strings = useProjectsStrings();
  const { service, announce, library, route, go } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const [text, setText] = useState(name);
  /** Name of the instructions and files. It differs from the tag of the chats if renaming failed halfway. */
  const [storedName, setStoredName] = useState(name);
  const [instructions, setInstructions] = useState(project.instructions);
  const { uploads, add, remove, isBlocked, readyAttachments } = useUploads([], project.files);
  const { error, isRunning, run } = useAction();
  const knownNames = useProjectNames();
  /** Name that another tab or device used meanwhile. */
  const [foundName, setFoundName] = useState<string>();
  const newName = text === name ? name : normalizeProjectName(text);
  const isTaken = newName !== storedName && (newName === foundName || (newName !== name && knownNames.includes(newName)));
  const save = async (): Promise<void> => {
    const content = { instructions, files: readyAttachments };
    if (newName === storedName) await saveProject(service, newName, content);
    else {
      await library.listAllIds();
      const isTag = newName !== name && listTags(library.getSummaries(), []).includes(newName);
      if (isTag || !(await renameProject(service, storedName, newName, content))) return setFoundName(newName);
      setStoredName(newName);
    }
    if (newName !== name) await replaceTag(library, name, [newName]);
    announce(strings.saved);
    closeDialog();
    if (newName === name) return;
    onRename?.(newName);
    if (route.at === 'new' && route.project === name) go({ at: 'new', project: newName });
  };
  const deleteThis = async (): Promise<void> => {
    if (!(await askConfirmation(strings.deleteQuestion(name), common.deleteThis))) return;
    const deleteAll = (): Promise<void> => deleteProject(service, storedName).then(() => replaceTag(library, name, []));
    if (!(await run(deleteAll))) return;
    announce(common.deletedMessage(name));
    closeDialog();
    if (route.at === 'new' && route.project === name) go({ at: 'new' });
  };
  return (
    <form
      className="form"
      aria-busy={isRunning}
      onSubmit={(event) => {
        event.preventDefault();
        void run(save);
      }}
    >
      <NameField value={text} onChange={setText} note={isTaken && strings.nameTaken(newName)} />
      <InstructionsField value={instructions} onChange={setInstructions} />
      <div className="field">
        <h3>{strings.files}</h3>
        {uploads.length > 0 && <UploadList {...{ uploads, remove }} />}
        <FileButton label={strings.addFiles} className="button slim" isMultiple onFile={(file) => add([file])} />
      </div>
      <ErrorMessage error={error} />
      {dialog}
      <div className="row end">
        <TextButton className="button danger" disabled={isRunning} onClick={() => void deleteThis()}>
          {strings.deleteProject}
        </TextButton>
        <TextButton onClick={closeDialog}>{common.cancel}</TextButton>
        <button
          {...{ type: 'submit', className: 'button primary', disabled: isBlocked || isRunning || isTaken || newName === '' }}
        >
          {common.save}
        </button>
      </div>
    </form>
  );
}

/** Replaces a tag of all chats, including those that the page has not loaded. Throws if a chat cannot be changed. */
async function replaceTag(library: Library, tag: string, newTags: readonly string[]): Promise<void> {
  await library.listAllIds();
  for (const { id, tags = [] } of library.getSummaries()) {
    if (!tags.includes(tag)) continue;
    const isDone = await library.updateListAttributes(id, {
      tags: [...new Set(tags.flatMap((current) => (current === tag ? newTags : current)))],
    });
    if (!isDone) throw new Error('The chat cannot be loaded');
  }
}

function useProjectsStrings(): ProjectsStrings {
  return useLocalizedStrings({ en: projectsEnglish, de: projectsGerman, fr: projectsFrench, es: projectsSpanish });
}
