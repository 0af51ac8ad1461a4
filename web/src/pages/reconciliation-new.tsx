import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, CallError, uploadTo } from '../call/call.ts';
import { isRecord, type OpenQuestion } from '../call/check.ts';
import { useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Choose } from '../kit/filters.tsx';
import { type Field, FieldRow, Form, type Values } from '../kit/form.tsx';

/** Each question that a file leaves open, with the answers that there are. */
function Questions({ of }: { of: readonly OpenQuestion[] }) {
  const toField = ({ message, options }: OpenQuestion, place: number): Field => ({
    name: `answer_${place}`,
    label: message,
    kind: 'select',
    isRequired: true,
    options: [['', 'Choose'], ...options.map(({ label }, i) => [String(i), label] as const)],
  });
  return (
    <fieldset className="group">
      <legend>What the file leaves open</legend>
      {of.map((question, place) => (
        <FieldRow key={question.id} field={toField(question, place)} />
      ))}
    </fieldset>
  );
}

type Mapping = Record<string, unknown>;

/** Earlier answers, and the answers to questions that were still open. */
function addAnswers(mapping: Mapping, questions: readonly OpenQuestion[], values: Values): Mapping {
  const mergedMapping = { ...mapping };
  questions.forEach(({ options }, place) => {
    const answer = options[Number(values.some(`answer_${place}`) ?? -1)]?.mapping ?? {};
    for (const [key, value] of Object.entries(answer)) {
      const before = mergedMapping[key];
      mergedMapping[key] = isRecord(value) && isRecord(before) ? { ...before, ...value } : value;
    }
  });
  return mergedMapping;
}

/** Keeps the problem of the file, which no other field shows. */
function ofFile(error: unknown): unknown {
  if (!(error instanceof CallError)) return error;
  if (error.questions.length > 0) return new Error('The file leaves something open. Choose below, and compare again.');
  const fileProblem = error.problems.find(
    ({ field }) => field === 'file' || field === 'columns' || field === 'mapping',
  );
  return fileProblem ? new Error(fileProblem.message) : error;
}

type Stores = readonly { id: string; name: string }[];

const SOURCES = [
  ['file', 'Upload a file'],
  ['store', 'Read from the store'],
] as const;

export function CompareDialog({
  stores,
  onStarted,
  ...dialog
}: {
  stores: Stores;
  isOpen: boolean;
  onClose: () => void;
  onStarted: (id: string) => void;
}) {
  const create = useChange('create_reconciliation', ['list_jobs']);
  const cache = useQueryClient();
  const [source, setSource] = useState<'file' | 'store'>('file');
  const [file, setFile] = useState<File>();
  const [questions, setQuestions] = useState<readonly OpenQuestion[]>([]);
  const [mapping, setMapping] = useState<Mapping>({});

  /** Answers are of one file, and the field for it is empty when the dialog opens again. */
  const choose = (chosenFile: File | undefined) => {
    setFile(chosenFile);
    setQuestions([]);
    setMapping({});
  };

  async function send(values: Values): Promise<Answer<'create_reconciliation'>> {
    const fields = { integration_id: values.some('integration_id'), from: values.some('from'), to: values.some('to') };
    if (source === 'store') return await create.mutateAsync({ body: fields });
    if (!file) throw new Error('Choose a file.');
    const form = new FormData();
    const answeredMapping = addAnswers(mapping, questions, values);
    for (const [name, value] of Object.entries({ ...fields, mapping: JSON.stringify(answeredMapping) })) {
      if (value !== undefined) form.set(name, value);
    }
    form.set('file', file);
    const answer = await uploadTo('create_reconciliation', form).catch((error: unknown) => {
      setMapping(answeredMapping);
      setQuestions(error instanceof CallError ? error.questions : []);
      throw ofFile(error);
    });
    await cache.invalidateQueries({ queryKey: ['list_jobs'] });
    return answer;
  }

  const close = () => {
    choose(undefined);
    dialog.onClose();
  };
  return (
    <Dialog
      title="Compare with a store"
      hint="Upload the store’s order export, or we read the orders from the connected store."
      isOpen={dialog.isOpen}
      onClose={close}
    >
      <Choose
        ofForm
        label="Orders to compare"
        value={source}
        options={SOURCES}
        onChoose={(one) => {
          choose(undefined);
          setSource(one);
        }}
      />
      {source === 'file' && (
        <div className="field">
          <label htmlFor="store-export">File</label>
          <input
            id="store-export"
            type="file"
            accept=".csv,.tsv,.txt,.xlsx,.gz,.zip,text/csv"
            aria-describedby="store-export-hint"
            onChange={({ target }) => choose(target.files?.[0])}
          />
          <p className="hint" id="store-export-hint">
            CSV or .xlsx, up to 200 MB.
          </p>
        </div>
      )}
      <Form
        action="Compare"
        onCancel={close}
        fields={[
          {
            name: 'integration_id',
            label: 'Store',
            kind: 'select',
            isRequired: true,
            options: stores.map(({ id, name }) => [id, name] as const),
          },
          {
            name: 'from',
            label: 'From',
            kind: 'date',
            ...(source === 'file' && { hint: 'Leave empty to start with the file’s first order that is known here.' }),
          },
          { name: 'to', label: 'To', kind: 'date' },
        ]}
        onSubmit={async (values) => {
          const { data } = await send(values);
          choose(undefined);
          onStarted(data.id);
        }}
      >
        {questions.length > 0 && <Questions of={questions} />}
      </Form>
    </Dialog>
  );
}
