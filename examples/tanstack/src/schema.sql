create table if not exists category (
  id text primary key,
  name text not null
);

create table if not exists product (
  id text primary key,
  category_id text not null references category,
  name text not null check (name <> ''),
  stock integer not null check (stock >= 0)
);

create index if not exists product_category_id on product (category_id);

-- The demo's data, which is always the same: 10,000 products in eight categories.
insert into category (id, name)
select lower(name), name
from unnest('{Bearings,Bolts,Cables,Fuses,Gaskets,Hinges,Pumps,Valves}'::text[]) as name
on conflict do nothing;

insert into product (id, category_id, name, stock)
select
  'product-' || n,
  lower(category),
  format('%s %s %s-%s', finish, rtrim(category, 's'), chr(65 + n % 26), 1000 + n),
  n * 37 % 240
from (
  select
    n,
    ('{Bearings,Bolts,Cables,Fuses,Gaskets,Hinges,Pumps,Valves}'::text[])[1 + n % 8] as category,
    ('{Brass,Carbon,Chrome,Copper,Nylon,Rubber,Steel,Titanium,Zinc}'::text[])[1 + n % 9] as finish
  from generate_series(1, 10000) as n
) as numbered
where not exists (select from product);
