package main

import (
	"bytes"
	"fmt"

	ics23 "github.com/cosmos/ics23/go"
)

// What a tree holds and does not hold; one of each kind with all its bytes flipped in turn.
func sound(t *tree) {
	size := len(t.leaves)
	for at, one := range t.leaves {
		if at < 6 {
			add(fmt.Sprintf("member %d of %d", at, size), claim{t.root, one.key, one.value, member(exist(one))}, at == size/2)
		}
	}
	for gap := 0; gap <= size; gap++ {
		if gap < 6 || gap == size {
			left, right := neighbours(t, gap)
			key := keyIn(t, gap)
			add(fmt.Sprintf("absent in gap %d of %d", gap, size), claim{t.root, key, nil, absent(key, left, right)}, gap == 0 || gap == size || gap == size/2)
		}
	}
}

// The left neighbour cut into two members of the same number, which readers put together.
func absentInParts(key []byte, left, right *ics23.ExistenceProof) []byte {
	first := &ics23.NonExistenceProof{Key: key, Left: &ics23.ExistenceProof{Key: left.Key, Leaf: left.Leaf, Path: left.Path[:1]}}
	second := &ics23.NonExistenceProof{Left: &ics23.ExistenceProof{Value: left.Value, Path: left.Path[1:]}, Right: right}
	one, _ := first.Marshal()
	two, _ := second.Marshal()
	inside := append(one, two...)
	size := []byte{byte(len(inside)&0x7f | 0x80), byte(len(inside) >> 7)}
	return append(append([]byte{0x12}, size...), inside...)
}

// Claims that are not true, with sound proofs of something else.
func wrong(t *tree) {
	size := len(t.leaves)
	say := func(what string, c claim) { add(fmt.Sprintf("%s, tree of %d", what, size), c, false) }
	one, other := t.leaves[1], t.leaves[3]
	proof := member(exist(one))
	say("another member's key", claim{t.root, other.key, one.value, proof})
	say("another member's value", claim{t.root, one.key, other.value, proof})
	say("no value", claim{t.root, one.key, []byte{}, proof})
	say("no key", claim{t.root, []byte{}, one.value, proof})
	say("another tree's root", claim{makeTree(2).root, one.key, one.value, proof})
	say("the empty tree's root", claim{empty, one.key, one.value, proof})
	say("no root", claim{[]byte{}, one.key, one.value, proof})
	say("a member said to be absent", claim{t.root, one.key, nil, proof})
	say("a proof cut short", claim{t.root, one.key, one.value, proof[:len(proof)-1]})
	say("a proof with a member more", claim{t.root, one.key, one.value, append(bytes.Clone(proof), 0x7a, 1, 0)})
	say("a proof with trailing bytes", claim{t.root, one.key, one.value, append(bytes.Clone(proof), 0)})
	say("no proof", claim{t.root, one.key, one.value, []byte{}})
	for left := 0; left <= size; left++ { // size: none
		for right := 0; right <= size; right++ {
			var l, r *ics23.ExistenceProof
			if left < size {
				l = exist(t.leaves[left])
			}
			if right < size {
				r = exist(t.leaves[right])
			}
			for _, gap := range []int{0, 2, size} {
				key := keyIn(t, gap)
				if size == 5 && (gap == 2 || left == size || right == size) {
					say(fmt.Sprintf("a key of gap %d between %d and %d", gap, left, right), claim{t.root, key, nil, absent(key, l, r)})
				}
			}
		}
	}
	left, right := neighbours(t, 2)
	key := keyIn(t, 2)
	say("an absent key said to be there", claim{t.root, key, []byte("value"), absent(key, left, right)})
	say("a member said to be absent beside itself", claim{t.root, one.key, nil, absent(one.key, exist(t.leaves[0]), exist(t.leaves[2]))})
	say("a member said to be absent right of itself", claim{t.root, one.key, nil, absent(one.key, exist(one), exist(t.leaves[2]))})
	say("a member said to be absent left of itself", claim{t.root, one.key, nil, absent(one.key, exist(t.leaves[0]), exist(one))})
	say("a left neighbour of another tree", claim{t.root, key, nil, absent(key, exist(makeTree(3).leaves[0]), right)})
	say("the key in the proof is another one", claim{t.root, key, nil, absent([]byte("another"), left, right)})
	say("absent in the empty tree", claim{empty, key, nil, absent(key, nil, nil)})
	non := absent(key, left, right)
	say("both, absence last, said to be there", claim{t.root, one.key, one.value, append(bytes.Clone(proof), non...)})
	say("both, absence last, said to be absent", claim{t.root, key, nil, append(bytes.Clone(proof), non...)})
	say("both, existence last, said to be there", claim{t.root, one.key, one.value, append(bytes.Clone(non), proof...)})
	say("both, existence last, said to be absent", claim{t.root, key, nil, append(bytes.Clone(non), proof...)})
	say("a neighbour in two parts", claim{t.root, key, nil, absentInParts(key, left, right)})
	left.Path = nil
	say("a left neighbour without a path", claim{t.root, key, nil, absent(key, left, right)})
	left, right = neighbours(t, 2)
	left.Leaf = nil
	say("a left neighbour without a leaf", claim{t.root, key, nil, absent(key, left, right)})
}

// The root that an existence proof leads to, whatever its form; by sha256 where the library would not say.
func rootOf(proof *ics23.ExistenceProof) []byte {
	if root, err := proof.Calculate(); err == nil {
		return root
	}
	root := hash([]byte{0}, hash(proof.Key), hash(proof.Value))
	for _, step := range proof.Path {
		root = hash(step.Prefix, root, step.Suffix)
	}
	return root
}

func inner(prefix, suffix []byte) *ics23.InnerOp {
	return &ics23.InnerOp{Hash: ics23.HashOp_SHA256, Prefix: prefix, Suffix: suffix}
}

// Proofs of every form, each for the root that it leads to: only the form decides.
func forms() {
	t := makeTree(5)
	one := t.leaves[2]
	say := func(what string, change func(proof *ics23.ExistenceProof)) {
		proof := exist(one)
		change(proof)
		add(what, claim{rootOf(proof), proof.Key, append([]byte{}, proof.Value...), member(proof)}, false)
	}
	for op := int32(0); op <= 9; op++ {
		hash := ics23.HashOp(op)
		say(fmt.Sprintf("leaf hash %d", op), func(p *ics23.ExistenceProof) { p.Leaf.Hash = hash })
		say(fmt.Sprintf("leaf key hash %d", op), func(p *ics23.ExistenceProof) { p.Leaf.PrehashKey = hash })
		say(fmt.Sprintf("leaf value hash %d", op), func(p *ics23.ExistenceProof) { p.Leaf.PrehashValue = hash })
		say(fmt.Sprintf("leaf length %d", op), func(p *ics23.ExistenceProof) { p.Leaf.Length = ics23.LengthOp(op) })
		say(fmt.Sprintf("inner hash %d", op), func(p *ics23.ExistenceProof) { p.Path[0].Hash = hash })
	}
	for _, prefix := range [][]byte{{}, {0}, {1}, {0, 0}, {0, 1}, {1, 0}} {
		say(fmt.Sprintf("leaf prefix %x", prefix), func(p *ics23.ExistenceProof) { p.Leaf.Prefix = prefix })
	}
	for _, length := range []int{0, 1, 2, 31, 32, 33, 34, 65} {
		for _, first := range []byte{0, 1, 2} {
			prefix := bytes.Repeat([]byte{first}, length)
			say(fmt.Sprintf("inner prefix of %d times %d", length, first), func(p *ics23.ExistenceProof) { p.Path[0] = inner(prefix, nil) })
		}
	}
	for _, length := range []int{0, 1, 31, 32, 33, 64, 96} {
		suffix := bytes.Repeat([]byte{7}, length)
		say(fmt.Sprintf("inner suffix of %d", length), func(p *ics23.ExistenceProof) { p.Path[0] = inner([]byte{1}, suffix) })
	}
	for _, depth := range []int{0, 128, 129, 255, 256, 257} {
		say(fmt.Sprintf("path of %d", depth), func(p *ics23.ExistenceProof) {
			p.Path = nil
			for len(p.Path) < depth {
				p.Path = append(p.Path, inner([]byte{1}, nil))
			}
		})
	}
	say("no leaf", func(p *ics23.ExistenceProof) { p.Leaf = nil })
	say("no value", func(p *ics23.ExistenceProof) { p.Value = nil })
	say("no key", func(p *ics23.ExistenceProof) { p.Key = nil })
	outermost(one)
	triplets(t)
}

// Two leaves side by side below a node of three: a width that this tree does not have.
func triplets(t *tree) {
	left, right := exist(t.leaves[1]), exist(t.leaves[2])
	left.Path, right.Path = nil, nil
	l, r := rootOf(left), rootOf(right)
	left.Path = []*ics23.InnerOp{inner([]byte{1}, append(bytes.Clone(r), empty...))}
	right.Path = []*ics23.InnerOp{inner(append([]byte{1}, l...), empty)}
	key := keyIn(t, 2)
	add("neighbours below a node of three", claim{rootOf(left), key, nil, absent(key, left, right)}, false)
}

// One neighbour alone: every step beside it must be empty. Steps of other widths fit neither side.
func outermost(one *leaf) {
	full := bytes.Repeat([]byte{9}, 32)
	steps := map[string]*ics23.InnerOp{
		"left of full": inner([]byte{1}, full), "left of empty": inner([]byte{1}, empty),
		"right of full": inner(append([]byte{1}, full...), nil), "right of empty": inner(append([]byte{1}, empty...), nil),
		"of no side": inner([]byte{1}, nil), "of both sides": inner(append([]byte{1}, empty...), empty), "short": inner([]byte{1, 0}, empty),
	}
	names := []string{"left of full", "left of empty", "right of full", "right of empty", "of no side", "of both sides", "short"}
	place := hash(one.key)
	find := func(after bool) []byte {
		for at := 0; ; at++ {
			key := []byte(fmt.Sprintf("beside %d", at))
			if (bytes.Compare(hash(key), place) > 0) == after {
				return key
			}
		}
	}
	for _, low := range names {
		for _, high := range names {
			proof := exist(one)
			proof.Path = []*ics23.InnerOp{steps[low], steps[high]}
			before, after := find(false), find(true)
			add("left-most: "+low+", "+high, claim{rootOf(proof), before, nil, absent(before, nil, proof)}, false)
			add("right-most: "+low+", "+high, claim{rootOf(proof), after, nil, absent(after, proof, nil)}, false)
		}
	}
}
