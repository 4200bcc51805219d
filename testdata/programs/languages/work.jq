map(. * 7919 % 5003) | group_by(.) | length
