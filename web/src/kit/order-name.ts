interface NamedOrder {
  order_id: string | null;
  order_number: string | null;
}

/** The id at the store, where the name is another. */
export const orderSecond = ({ order_id, order_number }: NamedOrder): string | null =>
  order_number === null || order_number === order_id ? null : order_id;
