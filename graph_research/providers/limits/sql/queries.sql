-- Statements that SQLite and PostgreSQL understand alike. Each request takes `:interval` of the allowance, which is
-- `:burst` more than that.

-- name: turn
INSERT INTO provider_limits AS held (name, whole_at) VALUES (:name, :now + :interval)
ON CONFLICT (name) DO UPDATE
SET whole_at = CASE WHEN held.whole_at > :now THEN held.whole_at ELSE :now END + :interval,
    open_until = CASE WHEN held.open_until IS NULL THEN NULL ELSE :now + :probe END
WHERE held.whole_at - :burst - :now <= :most AND (:insist OR held.open_until IS NULL OR held.open_until <= :now)
RETURNING whole_at - :interval - :burst - :now AS wait, paused_until - :now AS paused,
    CASE WHEN open_until IS NULL THEN 0 ELSE 1 END AS is_probe

-- name: limits
SELECT whole_at - :burst - :now AS wait, paused_until - :now AS paused, open_until - :now AS open
FROM provider_limits WHERE name = :name

-- name: pause
UPDATE provider_limits
SET whole_at = CASE WHEN whole_at - :burst > :now + :pause THEN whole_at ELSE :now + :pause + :burst END,
    paused_until = CASE WHEN paused_until > :now + :pause THEN paused_until ELSE :now + :pause END
WHERE name = :name

-- name: set_breaker
UPDATE provider_limits SET open_until = :now + :open WHERE name = :name
