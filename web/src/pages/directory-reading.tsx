import type { Answer } from '../call/call.ts';
import { fieldName, number } from '../kit/format.ts';
import { Button, Empty } from '../kit/parts.tsx';
import { type DirectorySearch, readValues } from './directory-search.ts';

type Suggestions = NonNullable<Answer<'search_creators'>['meta']['suggestions']>;

/** What an empty search offers: searches near it that find somebody, each with its number. */
export function Nobody({ by, suggestions }: { by: DirectorySearch; suggestions: Suggestions }) {
  return (
    <Empty title="No creators match">
      {suggestions.length === 0 ? (
        'Remove a filter, or choose another place or category.'
      ) : (
        <span className="row suggested">
          {suggestions.map(({ parameter, value, instead, instead_parameter: other = parameter, total }) => (
            <Button
              key={`${other} ${instead}`}
              onPress={() => by.change({ [parameter]: undefined, [other]: instead ?? undefined, q_as: undefined })}
            >
              {instead === null
                ? `Without ${parameter === 'q' ? `“${value}”` : fieldName(parameter).toLowerCase()}`
                : other === parameter
                  ? `Search for “${instead}”`
                  : `Search for the ${fieldName(other).toLowerCase()} “${instead}”`}{' '}
              ({number(total)})
            </Button>
          ))}
        </span>
      )}
    </Empty>
  );
}

type Interpretation = Answer<'search_creators'>['meta']['interpretation'];

/** Shows the API's interpretation of the search's words and places, where it is not obvious. */
export function Reading({ by, of }: { by: DirectorySearch; of: Interpretation }) {
  const { q, city_any = [], not_city = [], typos = [] } = of;
  const isPlace = q !== null && q.read_as !== 'text';
  const unknown = [...city_any, ...not_city].filter(({ did_you_mean }) => did_you_mean !== null);
  const correctedWords = typos.filter(({ matched }) => matched.length > 0);
  const replace = (value: string, name: string) => {
    const param = readValues(by.search, 'city_any').includes(value) ? 'city_any' : 'not_city';
    const values = readValues(by.search, param).map((one) => (one === value ? name : one));
    by.change({ [param]: values.join('|') });
  };
  if (!isPlace && unknown.length === 0 && correctedWords.length === 0) return null;
  return (
    <div className="reading">
      {isPlace && (
        <p>
          {q.read_as === 'text_in_place' ? (
            <>
              “{q.value}” was read as <strong>{q.text}</strong> in <strong>{q.name}</strong>.{' '}
            </>
          ) : (
            <>
              “{q.value}” was read as a place: <strong>{q.name}</strong>.{' '}
            </>
          )}
          <button type="button" className="link" onClick={() => by.change({ q_as: 'text' })}>
            Search for the words instead
          </button>
        </p>
      )}
      {unknown.map(({ value, did_you_mean }) => (
        <p key={value}>
          “{value}” finds cities whose name contains it. Did you mean{' '}
          <button type="button" className="link" onClick={() => replace(value, did_you_mean ?? value)}>
            {did_you_mean}
          </button>
          ?
        </p>
      ))}
      {correctedWords.map(({ word, matched }) => (
        <p key={word}>
          “{word}” also found {matched.join(', ')}.
        </p>
      ))}
    </div>
  );
}
