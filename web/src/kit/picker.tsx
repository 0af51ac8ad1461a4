import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useFirst } from '../call/use.ts';
import { useCreatorName } from './creator-face.tsx';
import { creatorName, creatorSecond } from './creator-name.ts';
import { Face } from './face.tsx';
import { useLater } from './later.ts';

export interface Choice {
  value: string;
  name: string;
  /** A second line, such as the handle. */
  second: string | null;
  /** The picture; undefined for what has none, such as a campaign. */
  url?: string | null;
  /** Why it cannot be chosen. */
  unless?: string;
}

interface ChoiceSource {
  /** The choices for a typed text, once they are loaded. */
  useFound: (text: string, isOpen: boolean) => readonly Choice[] | undefined;
  /** The choice with this value. */
  useNamed: (value: string) => Choice | undefined;
  placeholder: string;
  /** True if a typed text is itself a value. */
  isValue: (text: string) => boolean;
}

const SHOWN = 8;

const creatorChoice = (creator: Row<'list_roster'>): Choice => ({
  value: creator.creator_email ?? '',
  name: creatorName(creator),
  second: creatorSecond(creator),
  url: creator.pfp_url,
  ...(creator.creator_email === null ? { unless: 'no email address' } : {}),
});

const CREATORS: ChoiceSource = {
  useFound: (text, isEnabled) =>
    useFirst('list_roster', text === '' ? {} : { search: text }, { limit: SHOWN, isEnabled }).data?.data.map(
      creatorChoice,
    ),
  useNamed: (value) => {
    const isEnabled = value.includes('@');
    const [creator] = useFirst('list_roster', { creator_email: value }, { limit: 1, isEnabled }).data?.data ?? [];
    return creator && creatorChoice(creator);
  },
  placeholder: 'Name, handle or email',
  isValue: (text) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text),
};

const campaignChoice = ({ id, title, status }: Pick<Row<'list_campaigns'>, 'id' | 'title' | 'status'>): Choice => ({
  value: id,
  name: title,
  second: status === 'active' ? null : status,
});

const CAMPAIGNS: ChoiceSource = {
  useFound: (text, isEnabled) =>
    useFirst('list_campaigns', text === '' ? {} : { search: text }, { limit: SHOWN, isEnabled }).data?.data.map(
      campaignChoice,
    ),
  useNamed: (value) => {
    const { data } = useCall('get_campaign', { params: { id: value } }, { enabled: value !== '' });
    return data?.data.id === value ? campaignChoice(data.data) : undefined;
  },
  placeholder: 'Name',
  isValue: () => false,
};

/** Entries of the roster by id, also of creators without an email address. */
const ENTRIES: ChoiceSource = {
  ...CREATORS,
  useFound: (text, isEnabled) =>
    useFirst('list_roster', text === '' ? {} : { search: text }, { limit: SHOWN, isEnabled }).data?.data.map(
      (creator) => ({
        value: creator.id,
        name: creatorChoice(creator).name,
        second: creatorSecond(creator),
        url: creator.pfp_url,
      }),
    ),
  useNamed: (value) => {
    const { data } = useCall('get_roster_creator', { params: { id: value } }, { enabled: value !== '' });
    return data?.data.id === value ? { ...creatorChoice(data.data), value } : undefined;
  },
  isValue: () => false,
};

type LinkItem = Pick<Row<'list_affiliate_links'>, 'id' | 'value' | 'creator_name' | 'creator_email'>;
const linkChoice = ({ id, value, creator_name, creator_email }: LinkItem): Choice => ({
  value: id,
  name: value,
  second: creator_name ?? creator_email,
});

const LINKS: ChoiceSource = {
  useFound: (text, isEnabled) =>
    useFirst('list_affiliate_links', text === '' ? {} : { search: text }, { limit: SHOWN, isEnabled }).data?.data.map(
      linkChoice,
    ),
  useNamed: (value) => {
    const { data } = useCall('get_affiliate_link', { params: { id: value } }, { enabled: value !== '' });
    return data?.data.id === value ? linkChoice(data.data) : undefined;
  },
  placeholder: 'Name or code',
  isValue: () => false,
};

const SOURCES = { creator: CREATORS, campaign: CAMPAIGNS, entry: ENTRIES, link: LINKS };
export type PickerKind = keyof typeof SOURCES;
export const isPickerKind = (kind: string): kind is PickerKind => kind in SOURCES;

interface PickerProps {
  kind: PickerKind;
  id: string;
  value: string;
  /** The name of the form's field that has the value. */
  name?: string;
  onPick?: (value: string) => void;
  /** Called with what is typed so far, or nothing if it is no value yet. */
  onTyped?: (value: string) => void;
  /** True if it is cleared after each choice, for another one. */
  isEmptied?: boolean;
  isRequired?: boolean | undefined;
  describedBy?: string | undefined;
  isInvalid?: boolean;
}

/** A text field that suggests creators, campaigns or links while their names are typed. */
export function Picker(props: PickerProps) {
  const { kind, id, name, onPick, onTyped, isEmptied = false, isRequired, describedBy, isInvalid } = props;
  const { useFound, useNamed, placeholder, isValue } = SOURCES[kind];
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef<HTMLInputElement>(null);
  const [value, setValue] = useState(props.value);
  const reportedValue = useRef(value);
  const [outerValue, setOuterValue] = useState(props.value);
  /** The text that is being typed; undefined once something is chosen. */
  const [text, setText] = useState<string>();
  const [pickedChoice, setPickedChoice] = useState<Choice>();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // A filter is also changed from outside, such as by Back.
  if (outerValue !== props.value) {
    setOuterValue(props.value);
    setValue(props.value);
    setText(undefined);
  }
  const typedText = (text ?? '').trim();
  const settledText = useLater(typedText, 200);
  const suggestions = useFound(settledText, isOpen);
  const valueChoice = useNamed(value);
  const currentChoice = pickedChoice?.value === value ? pickedChoice : valueChoice;
  const choices = settledText === typedText && isOpen ? (suggestions ?? []) : [];
  const isShown = choices.length > 0 && !(choices.length === 1 && choices[0]?.value === value);
  const shownText = text ?? (value === '' ? '' : (currentChoice?.name ?? value));
  const isUnknown = typedText !== '' && value === '';
  useEffect(() => {
    const isOfForm = name !== undefined || isEmptied;
    input.current?.setCustomValidity(isUnknown && isOfForm ? 'Choose one from the list.' : '');
  }, [isUnknown, name, isEmptied]);

  // The browser reports no change of a hidden input, and a form may follow its values.
  useEffect(() => {
    if (reportedValue.current === value) return;
    reportedValue.current = value;
    sent.current?.dispatchEvent(new Event('input', { bubbles: true }));
  }, [value]);

  function type(next: string) {
    const enteredText = next.trim();
    setText(next);
    setValue(isValue(enteredText) ? enteredText : '');
    setOpen(true);
    setActive(-1);
    if (enteredText === '') onPick?.('');
    onTyped?.(isValue(enteredText) ? enteredText : '');
  }
  function pick(choice: Choice) {
    if (choice.unless !== undefined) return;
    setValue(isEmptied ? '' : choice.value);
    setPickedChoice(choice);
    setText(undefined);
    setOpen(false);
    onPick?.(choice.value);
  }
  function leave() {
    setOpen(false);
    if (value === '' || text === undefined) return;
    onPick?.(value);
    if (!isEmptied) return;
    setValue('');
    setText(undefined);
  }
  function press(event: KeyboardEvent) {
    const { key } = event;
    if (key === 'Escape' && isShown) {
      event.stopPropagation();
      setOpen(false);
    } else if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = key === 'ArrowDown' ? 1 : -1;
      if (choices.length > 0) setActive((active + step + choices.length) % choices.length);
    } else if (key === 'Enter') {
      const choice = isShown ? choices[active] : undefined;
      if (choice || name === undefined) event.preventDefault();
      if (choice) pick(choice);
      else leave();
    }
  }
  return (
    <div className="picker">
      {kind !== 'campaign' && kind !== 'link' && value !== '' && text === undefined && (
        <Face name={shownText} url={currentChoice?.url ?? null} />
      )}
      <input
        ref={input}
        id={id}
        type="text"
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        placeholder={name === undefined && !isEmptied ? 'All' : placeholder}
        value={shownText}
        required={isRequired}
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${list}${active}` : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid ? true : undefined}
        onChange={({ target }) => type(target.value)}
        onClick={() => setOpen(true)}
        onKeyDown={press}
        onBlur={leave}
      />
      {name !== undefined && <input ref={sent} type="hidden" name={name} value={value} />}
      {isShown && (
        <div id={list} role="listbox" className="choices" aria-label="Suggestions">
          {choices.map((choice, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the focus and takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the same
            <div
              key={`${choice.value} ${choice.name} ${choice.second}`}
              id={`${list}${i}`}
              role="option"
              aria-selected={i === active}
              aria-disabled={choice.unless !== undefined}
              className="choice-row"
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => pick(choice)}
            >
              {choice.url !== undefined && <Face name={choice.name} url={choice.url} />}
              <span>
                {choice.name}
                <span className="second">{[choice.second, choice.unless].filter(Boolean).join(', ')}</span>
              </span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function Chosen({ email, onRemove }: { email: string; onRemove: () => void }) {
  const name = useCreatorName(email) ?? email;
  return (
    <li className="chip">
      {name}
      <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

interface CreatorsProps extends Omit<PickerProps, 'kind' | 'onPick' | 'onTyped'> {
  /** Called with their addresses, and the one that is being typed, each time that they change. */
  onChosen: ((emails: readonly string[]) => void) | undefined;
}

/** Several creators, whose email addresses are the form's value, with commas between them. */
export function CreatorsPicker({ name, value, isRequired, onChosen, ...input }: CreatorsProps) {
  const [emails, setEmails] = useState<readonly string[]>(value === '' ? [] : value.split(','));
  const choose = (next: readonly string[]) => {
    setEmails(next);
    onChosen?.(next);
  };
  const add = (email: string) => email !== '' && choose([...new Set([...emails, email])]);
  return (
    <div className="many">
      {emails.length > 0 && (
        <ul className="plain row">
          {emails.map((email) => (
            <Chosen key={email} email={email} onRemove={() => choose(emails.filter((other) => other !== email))} />
          ))}
        </ul>
      )}
      <Picker
        kind="creator"
        value=""
        onPick={add}
        onTyped={(email) => onChosen?.(email === '' ? emails : [...emails, email])}
        isEmptied
        isRequired={isRequired === true && emails.length === 0}
        {...input}
      />
      <input type="hidden" name={name} value={emails.join(',')} />
    </div>
  );
}
