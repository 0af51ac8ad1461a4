import { lists } from 'virtual:lists';
import type { Answer, Body, OperationId, Query } from './call.ts';

type Row<Id extends OperationId> =
  Answer<Id> extends { data: infer Data } ? (Data extends readonly (infer Item)[] ? Item : Data) : never;

type Text<Value> = Extract<Value extends readonly (infer Item)[] ? Item : Value, string>;

type At<Shape, Name extends string> = Name extends keyof Shape ? Text<NonNullable<Shape[Name]>> : never;
type Either<First, Other> = [First] extends [never] ? Other : First;

/** The values of a parameter, else of a field of the body, else of one of the rows. */
type DeclaredChoice<Id extends OperationId, Name extends string> = Either<
  At<Query<Id>, Name>,
  Either<At<Body<Id>, Name>, At<Row<Id>, Name>>
>;

const isDeclared = <T>(list: readonly string[]): list is readonly (T & string)[] => list.length > 0;

/** A closed list, as the operation declares it. */
export function listChoices<Id extends OperationId, Name extends string>(
  id: Id,
  name: Name,
): readonly DeclaredChoice<Id, Name>[] {
  const list = lists[id]?.[name] ?? [];
  if (!isDeclared<DeclaredChoice<Id, Name>>(list)) throw new Error(`${id} has no closed list ${name}.`);
  return list;
}
