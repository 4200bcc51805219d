-- Counts and sorts.
with recursive n(i) as (select 1 union all select i + 1 from n limit 900000)
select count(*), max(x) from (select i * 7919 % 5003 as x, count(*) from n group by x order by 2);
